import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';

export interface StateNodeData extends Record<string, unknown> {
  readonly name: string;
  /** Whether it has states inside. */
  readonly isOuter: boolean;
  readonly isLit: boolean;
  readonly isVisited: boolean;
  /** The records that it takes and stays as it is. */
  readonly stays: readonly string[];
}

/** A state of the chart. What it takes without another state following is its title. */
export function StateNode({ data, id }: NodeProps<Node<StateNodeData>>) {
  const { name, isOuter, isLit, isVisited, stays } = data;
  const title = stays.length === 0 ? id : `${id} stays as it is with ${stays.join(', ')}`;
  return (
    <div className={isOuter ? 'state state-outer' : 'state'} data-name={id} data-lit={isLit} data-visited={isVisited} title={title}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      {name}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}
