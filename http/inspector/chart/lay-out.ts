/** Where the chart's nodes and edges are drawn. ELK finds the places while the page is built: the page itself only draws. */
import type { ElkExtendedEdge, ElkNode, ELK } from 'elkjs/lib/elk-api.js';
import type { ChartEdge, ChartGraph, ChartNodeId } from './chart-graph.ts';
import { LABEL_LINE_HEIGHT, labelLines, type ChartLayout, type EdgeLayout, type NodeLayout, type Point } from './chart-layout.ts';

const NODE_WIDTH = 96;
const NODE_HEIGHT = 34;
const LABEL_CHARACTER_WIDTH = 5.7;

const LAYOUT_OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.cycleBreaking.strategy': 'GREEDY',
  'elk.layered.edgeLabels.sideSelection': 'ALWAYS_DOWN',
  'elk.layered.spacing.nodeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeNodeBetweenLayers': '7',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '6',
  'elk.spacing.nodeNode': '10',
  'elk.spacing.edgeNode': '7',
  'elk.spacing.edgeEdge': '6',
  'elk.spacing.edgeLabel': '2',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'PARENT',
  'elk.randomSeed': '1',
};

export async function layOut(elk: Pick<ELK, 'layout'>, { nodes, edges }: ChartGraph): Promise<ChartLayout> {
  const children = nodes.filter(({ parent }) => parent === null).map(({ id }) => elkNode(id, nodes));
  const laid: ElkNode = await elk.layout({ id: 'chart', layoutOptions: LAYOUT_OPTIONS, children, edges: edges.map(elkEdge) });
  const found: Record<string, NodeLayout> = {};
  collectNodes(laid.children ?? [], found);
  const foundEdges = Object.fromEntries((laid.edges ?? []).map((edge) => [edge.id, edgeLayout(edge)]));
  return { width: rounded(laid.width), height: rounded(laid.height), nodes: found, edges: foundEdges };
}

function elkNode(id: ChartNodeId, nodes: ChartGraph['nodes']): ElkNode {
  const inner = nodes.filter(({ parent }) => parent === id);
  if (inner.length === 0) return { id, width: NODE_WIDTH, height: NODE_HEIGHT };
  return { id, layoutOptions: { ...LAYOUT_OPTIONS, 'elk.padding': '[top=26,left=8,bottom=8,right=8]' }, children: inner.map((node) => elkNode(node.id, nodes)) };
}

function elkEdge({ id, source, target, types }: ChartEdge): ElkExtendedEdge {
  const lines = labelLines(types);
  const width = Math.max(...lines.map((line) => line.length)) * LABEL_CHARACTER_WIDTH + 4;
  const label = { text: lines.join('\n'), width, height: lines.length * LABEL_LINE_HEIGHT };
  return { id, sources: [source], targets: [target], labels: [label] };
}

function collectNodes(children: readonly ElkNode[], found: Record<string, NodeLayout>): void {
  for (const child of children) {
    found[child.id] = { x: rounded(child.x), y: rounded(child.y), width: rounded(child.width), height: rounded(child.height) };
    collectNodes(child.children ?? [], found);
  }
}

function edgeLayout({ id, sections, labels }: ElkExtendedEdge): EdgeLayout {
  const [section] = sections ?? [];
  const [label] = labels ?? [];
  if (section === undefined || label === undefined) throw new Error(`the edge ${id} has no place`);
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }): Point => ({ x: rounded(x), y: rounded(y) }));
  return { points, label: { x: rounded(label.x), y: rounded(label.y), width: rounded(label.width), height: rounded(label.height) } };
}

function rounded(value: number | undefined): number {
  return Math.round((value ?? 0) * 10) / 10;
}
