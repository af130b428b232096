/** Keeps the whole drawing in sight, its edges too, whenever its frame gets another size. */
import { useEffect } from 'react';
import { useReactFlow, useStore } from '@xyflow/react';
import { layout } from 'virtual:chart-layout';

const WHOLE = { x: 0, y: 0, width: layout.width, height: layout.height };

export function WholeChart() {
  const { fitBounds } = useReactFlow();
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  useEffect(() => {
    if (width > 0 && height > 0) void fitBounds(WHOLE, { padding: 0 });
  }, [fitBounds, width, height]);
  return null;
}
