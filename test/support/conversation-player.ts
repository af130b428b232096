/**
 * The model and the tools of recorded conversations: they say what the recording says, and hang where a test wants them
 * to. A model is named after its conversation, so that many can be under way at once.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Recording, Step, Turn } from '../../bench/recordings.ts';
import { Arrivals } from './arrivals.ts';
import type { ModelAnswer, ModelCall } from './openai-server.ts';
import type { ToolCall } from './tool-server.ts';

/** Where nothing answers until the server is killed. */
export interface Hang {
  readonly turn: Turn;
  readonly step: number;
  readonly at: 'model' | 'tool';
}

interface Scene {
  readonly conversation: Recording;
  readonly hang: Hang | null;
  turn: Turn | null;
  step: number;
}

export class ConversationPlayer {
  readonly #scenes = new Map<string, Scene>();
  readonly #bySession = new Map<string, Scene>();
  /** The conversations that have reached the place where they hang. */
  readonly hanging = new Arrivals<string>('hangs');

  enter(conversation: Recording, sessionId: string, hang: Hang | null): void {
    const scene: Scene = { conversation, hang, turn: null, step: 0 };
    this.#scenes.set(conversation.id, scene);
    this.#bySession.set(sessionId, scene);
  }

  /** What is played from now on in a conversation. */
  turn(conversation: Recording, turn: Turn): void {
    sceneIn(this.#scenes, conversation.id).turn = turn;
  }

  readonly model = async ({ request }: ModelCall): Promise<ModelAnswer> => {
    const scene = sceneIn(this.#scenes, request.model);
    const lastUser = request.messages.findLastIndex(({ role }) => role === 'user');
    scene.step = request.messages.slice(lastUser).filter(({ role }) => role === 'assistant').length;
    if (hangsAt(scene, 'model')) return this.#hang(scene);
    const { text, toolCalls } = stepOf(scene);
    return { parts: [...(text === '' ? [] : [{ text }]), ...toolCalls.map((toolCall) => ({ toolCall }))] };
  };

  readonly tool = async ({ session_id, tool, input }: ToolCall): Promise<string> => {
    const scene = sceneIn(this.#bySession, session_id);
    if (hangsAt(scene, 'tool')) return this.#hang(scene);
    const call = stepOf(scene).toolCalls.find(
      (candidate) => candidate.name === tool && isDeepStrictEqual(JSON.parse(candidate.arguments), input),
    );
    if (call === undefined) throw new Error(`${scene.conversation.id} does not call ${tool} so here`);
    return call.output;
  };

  async #hang(scene: Scene): Promise<never> {
    this.hanging.add(scene.conversation.id);
    return new Promise<never>(() => undefined);
  }
}

function sceneIn(scenes: ReadonlyMap<string, Scene>, name: string): Scene {
  const scene = scenes.get(name);
  if (scene === undefined) throw new Error(`nothing is played under ${name}`);
  return scene;
}

function hangsAt({ hang, turn, step }: Scene, at: Hang['at']): boolean {
  return hang !== null && hang.at === at && hang.turn === turn && hang.step === step;
}

function stepOf({ conversation, turn, step }: Scene): Step {
  const found = turn?.steps[step];
  if (found === undefined) throw new Error(`${conversation.id} says nothing at step ${step} of ${turn?.input ?? 'no turn'}`);
  return found;
}
