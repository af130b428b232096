/** The kinds of things that can happen in the simulated world, each with how often it is drawn. */
import type { Choice, Draws, Kind } from './choices.ts';
import { Detail } from './choices.ts';
import { askSomething, createSession, followSomething, repeatRequest, sendMessage, stopTurn, takeUpHabit } from './client-steps.ts';
import { answerEffect } from './effect-steps.ts';
import { answerPost, askForEnvironmentTools, createInEnvironments, declareEnvironment, leaveEnvironments, reportBack, workInEnvironments } from './environment-steps.ts';
import { answerCommand, moveHost } from './host-steps.ts';
import { actOnDisk, damageDisk, failOnDisk, fillDisk, goOnUntil, holdOneBack, letOneCallGo, stallDisk } from './disk-steps.ts';
import type { World } from './world.ts';

interface Step extends Kind {
  /** False where there is nothing that it could happen to. */
  take(world: World, detail: Detail): boolean | Promise<boolean>;
}

const MINUTE_MS = 60_000;

/** The most harmless first. */
const STEPS: readonly [Step, ...Step[]] = [
  { name: 'settle', share: 200, take: settle },
  { name: 'ask', share: 160, take: askSomething },
  { name: 'message', share: 90, take: sendMessage },
  { name: 'effect', share: 170, take: answerEffect },
  { name: 'create', share: 30, take: createSession },
  { name: 'stop', share: 30, take: stopTurn },
  { name: 'repeat', share: 30, take: repeatRequest },
  { name: 'follow', share: 70, take: followSomething },
  { name: 'call', share: 60, take: letOneCallGo },
  { name: 'go on', share: 40, take: goOnUntil },
  { name: 'hold back', share: 15, take: holdOneBack },
  { name: 'act', share: 15, take: actOnDisk },
  { name: 'time', share: 30, take: passTime },
  { name: 'habit', share: 8, take: takeUpHabit },
  { name: 'fail', share: 16, take: failOnDisk },
  { name: 'stall', share: 8, take: stallDisk },
  { name: 'fill', share: 4, take: fillDisk },
  { name: 'kill', share: 10, take: kill },
  { name: 'power', share: 10, take: cutPower },
  { name: 'rot', share: 4, take: damageDisk },
  { name: 'drain', share: 4, take: drain },
  { name: 'declare', share: 12, take: declareEnvironment },
  { name: 'create in', share: 90, take: createInEnvironments },
  { name: 'work in', share: 120, take: workInEnvironments },
  { name: 'leave', share: 50, take: leaveEnvironments },
  { name: 'call tools', share: 20, take: askForEnvironmentTools },
  { name: 'answer', share: 200, take: answerPost },
  { name: 'report', share: 70, take: reportBack },
  { name: 'host', share: 80, take: moveHost },
  { name: 'obey', share: 110, take: answerCommand },
];

const BY_NAME = new Map(STEPS.map((step) => [step.name, step]));

export const DRAWS: Draws = {
  kinds: STEPS,
  stories: [
    ['ask', 'ask'],
    ['ask', 'go on', 'go on', 'kill', 'go on', 'kill'],
    ['message', 'settle', 'effect', 'settle', 'effect', 'settle'],
    ['message', 'settle', 'effect', 'go on', 'kill', 'settle', 'message'],
    ['message', 'settle', 'message', 'settle', 'message', 'settle', 'effect', 'settle'],
    ['message', 'settle', 'message', 'go on', 'kill', 'settle', 'message'],
    ['message', 'settle', 'stop', 'settle', 'kill'],
    ['message', 'go on', 'stop', 'go on', 'go on', 'power'],
    ['message', 'settle', 'effect', 'settle', 'stop', 'go on', 'go on', 'power'],
    ['message', 'settle', 'stop', 'go on', 'go on', 'kill'],
    ['create', 'create', 'create', 'settle', 'message', 'settle', 'message', 'settle', 'message', 'settle', 'stop', 'go on', 'go on', 'kill'],
    ['message', 'settle', 'effect', 'settle', 'stop', 'go on', 'kill'],
    ['habit', 'message', 'settle', 'stop', 'settle', 'ask', 'settle', 'message', 'settle', 'effect', 'settle'],
    ['message', 'go on', 'kill', 'settle', 'follow', 'settle', 'power'],
    ['message', 'settle', 'effect', 'go on', 'fail', 'ask', 'power'],
    ['message', 'go on', 'fail', 'kill', 'settle', 'ask', 'settle', 'power'],
    ['create', 'go on', 'hold back', 'power', 'settle', 'repeat', 'settle'],
    ['create', 'create', 'settle', 'ask', 'settle', 'repeat', 'settle', 'repeat'],
    ['habit', 'create', 'settle', 'ask', 'settle', 'ask', 'go on', 'fail', 'settle', 'ask'],
    ['create in', 'settle', 'create in', 'settle', 'answer', 'settle', 'work in', 'settle', 'answer', 'settle'],
    ['create in', 'settle', 'create in', 'settle', 'answer', 'settle', 'leave', 'settle', 'answer', 'settle', 'leave', 'settle', 'answer', 'settle'],
    ['create in', 'settle', 'create in', 'settle', 'host', 'host', 'settle', 'obey', 'settle', 'work in', 'settle', 'obey', 'settle'],
    ['create in', 'settle', 'leave', 'go on', 'answer', 'go on', 'kill', 'settle', 'leave', 'settle', 'answer'],
    ['work in', 'settle', 'answer', 'settle', 'report', 'go on', 'report', 'power', 'settle', 'report'],
    ['work in', 'settle', 'answer', 'stop', 'settle', 'report', 'answer', 'settle'],
    ['work in', 'settle', 'host', 'host', 'obey', 'settle', 'obey'],
    ['leave', 'settle', 'kill', 'settle', 'leave', 'settle', 'answer', 'settle', 'leave', 'settle', 'answer'],
    ['work in', 'settle', 'answer', 'settle', 'report', 'go on', 'kill', 'settle'],
    ['work in', 'settle', 'answer', 'settle', 'stop', 'settle', 'report', 'settle', 'obey', 'settle'],
    ['create in', 'settle', 'create in', 'settle', 'answer', 'answer', 'settle', 'leave', 'settle', 'leave', 'settle', 'power', 'settle'],
  ],
};

/** Lets happen what a choice says; where that cannot happen, nothing does. */
export async function takeStep(world: World, [kind, detail]: Choice): Promise<void> {
  const step = BY_NAME.get(kind);
  if (step === undefined) throw new Error(`there is no step ${kind}`);
  await step.take(world, new Detail(detail));
  await world.rest();
}

async function settle(world: World): Promise<boolean> {
  if (world.port.ready.length === 0) return false;
  world.say('the disk answers everything');
  await world.settle();
  return true;
}

function passTime(world: World, detail: Detail): boolean {
  switch (detail.below(4)) {
    case 0:
    case 1:
      world.say('time passes until the next timer');
      return world.clock.fireNext();
    case 2: {
      const minutes = detail.below(40);
      world.say(`${minutes} minutes pass`);
      world.clock.advance(minutes * MINUTE_MS);
      return true;
    }
    default:
      world.say('the wall clock is set back by an hour');
      world.clock.wallMs -= 60 * MINUTE_MS;
      return true;
  }
}

function kill(world: World): boolean {
  world.say(`the process is killed ${moment(world)}`);
  world.die('kill', () => world.port.kill(world.process.disk));
  return true;
}

function cutPower(world: World, detail: Detail): boolean {
  const takesAll = detail.below(2) === 0;
  world.say(`the power fails ${moment(world)}${takesAll ? ', and takes all that was not flushed' : ''}`);
  world.die('power cut', () => world.port.cutPower(takesAll ? () => 0 : detail.many));
  return true;
}

function drain(world: World, detail: Detail): boolean {
  const { process, server } = world;
  if (server === null || server.brain.isDraining) return false;
  const { brain, hosts } = server;
  world.say('the process is told to stop');
  world.coverage.failure('drain');
  world.auditor.excuses.isDraining = true;
  const boundMs = detail.of([MINUTE_MS, 0, null]);
  void brain
    .drain(boundMs)
    .then(() => {
      hosts.close();
      return brain.close();
    })
    .then(() => {
      process.over = 'closed';
    });
  return true;
}

function moment(world: World): string {
  const [first] = world.port.held;
  const where = first === undefined ? 'while the disk rests' : `${first.phase === 'acted' ? 'after' : 'before'} ${first.call.kind} of ${first.call.path.replace(/[0-9a-f]{28}/, '…')} ${first.phase === 'acted' ? 'and before its answer' : 'acts'}`;
  return world.process.server === null ? `during its start, ${where}` : where;
}
