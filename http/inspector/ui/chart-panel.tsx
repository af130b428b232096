/** The session chart with the session in it: where it is, how it got there with this record, where it has never been. */
import { useMemo } from 'react';
import { Controls, MarkerType, ReactFlow, type Edge, type Node } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { layout } from 'virtual:chart-layout';
import { chartGraph, edgeTaken } from '../chart/chart-graph.ts';
import type { FeedView } from '../data/session-feed.ts';
import { visitedStates } from '../model/visited.ts';
import { WholeChart } from './whole-chart.tsx';
import { StateNode, type StateNodeData } from './state-node.tsx';
import { TransitionEdge, type TransitionEdgeData } from './transition-edge.tsx';

const GRAPH = chartGraph();
const NODE_TYPES = { state: StateNode };
const EDGE_TYPES = { transition: TransitionEdge };

interface ChartPanelProps {
  readonly rows: FeedView['rows'];
  readonly version: number;
  readonly sequence: number;
}

export function ChartPanel({ rows, version, sequence }: ChartPanelProps) {
  const row = rows[sequence - 1];
  const before = rows[sequence - 2]?.state ?? (sequence === 1 ? 'none' : null);
  const state = row?.state ?? null;
  const taken = row === undefined || before === null ? null : edgeTaken(GRAPH, { from: before, to: row.state, type: row.type });
  // A set that holds the same is the same object: most records lead to no new state, and the chart is not put together again.
  const visitedText = useMemo(() => [...visitedStates(rows, sequence)].toSorted().join(' '), [rows, version, sequence]);
  const visited = useMemo(() => new Set(visitedText.split(' ')), [visitedText]);
  const nodes = useMemo(() => nodesOf(state, visited), [state, visited]);
  const edges = useMemo(() => edgesOf(taken, sequence, visited), [taken, sequence, visited]);

  return (
    <section className="panel panel-chart" aria-label="Chart" data-panel="chart" data-state={state} data-taken={taken}>
      <p className="chart-said" aria-live="polite">
        {row === undefined ? '' : before === row.state || before === null ? `${row.state}, after ${row.type}` : `${before} → ${row.state} by ${row.type}`}
      </p>
      <div className="chart">
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          colorMode="system"
          minZoom={0.2}
          maxZoom={2}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          zoomOnScroll={false}
          preventScrolling={false}
        >
          <WholeChart />
          <Controls showInteractive={false} fitViewOptions={{ padding: 0.03 }} />
        </ReactFlow>
      </div>
    </section>
  );
}

function nodesOf(state: string | null, visited: ReadonlySet<string>): Node<StateNodeData>[] {
  return GRAPH.nodes.map(({ id, parent, stays }) => {
    const { x, y, width, height } = layout.nodes[id] ?? { x: 0, y: 0, width: 0, height: 0 };
    const isOuter = GRAPH.nodes.some((other) => other.parent === id);
    const isLit = id === state || (isOuter && state !== null && state.startsWith(`${id}.`));
    return {
      id,
      type: 'state',
      position: { x, y },
      width,
      height,
      ...(parent === null ? {} : { parentId: parent }),
      data: { name: id.replace('running.', ''), isOuter, isLit, isVisited: visited.has(id), stays },
      zIndex: isOuter ? 0 : 1,
    };
  }).toSorted((left, right) => Number(right.data.isOuter) - Number(left.data.isOuter));
}

function edgesOf(taken: string | null, sequence: number, visited: ReadonlySet<string>): Edge<TransitionEdgeData>[] {
  return GRAPH.edges.map(({ id, source, target, types }) => {
    const isTaken = id === taken;
    const isVisited = visited.has(source) && visited.has(target);
    return {
      id,
      source,
      target,
      type: 'transition',
      data: { layout: layout.edges[id] ?? { points: [], label: { x: 0, y: 0, width: 0, height: 0 } }, types, isVisited, taken: isTaken ? sequence : null },
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: isTaken ? 'var(--accent)' : 'var(--edge)' },
      zIndex: isTaken ? 3 : 2,
    };
  });
}
