/** The kinds of things that can happen in the simulated world, each with how often it is drawn. */
import { KIND_MAX, type Choice, Detail } from './choices.ts';
import { askSomething, followSomething } from './client-steps.ts';
import { answerEffect } from './effect-steps.ts';
import { actOnDisk, damageDisk, failOnDisk, fillDisk, letOneCallGo, stallDisk } from './disk-steps.ts';
import type { World } from './world.ts';

interface Step {
  readonly share: number;
  /** False where there is nothing that it could happen to. */
  take(world: World, detail: Detail): boolean | Promise<boolean>;
}

const MINUTE_MS = 60_000;

/** The most harmless first. */
const STEPS: readonly Step[] = [
  { share: 230, take: settle },
  { share: 230, take: askSomething },
  { share: 170, take: answerEffect },
  { share: 70, take: followSomething },
  { share: 80, take: letOneCallGo },
  { share: 25, take: actOnDisk },
  { share: 30, take: passTime },
  { share: 30, take: failOnDisk },
  { share: 10, take: stallDisk },
  { share: 8, take: fillDisk },
  { share: 50, take: kill },
  { share: 45, take: cutPower },
  { share: 8, take: damageDisk },
  { share: 14, take: drain },
];

const TOTAL = STEPS.reduce((sum, { share }) => sum + share, 0);

/** Lets happen what a choice says; where that cannot happen, nothing does. */
export async function takeStep(world: World, [kind, detail]: Choice): Promise<void> {
  let left = Math.floor((kind / (KIND_MAX + 1)) * TOTAL);
  for (const step of STEPS) {
    if (left < step.share) {
      await step.take(world, new Detail(detail));
      break;
    }
    left -= step.share;
  }
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
  const { process } = world;
  const brain = world.brain;
  if (brain === null || brain.isDraining) return false;
  world.say('the process is told to stop');
  world.coverage.failure('drain');
  world.auditor.excuses.isDraining = true;
  const boundMs = detail.of([MINUTE_MS, 0, null]);
  void brain
    .drain(boundMs)
    .then(() => brain.close())
    .then(() => {
      process.over = 'closed';
    });
  return true;
}

function moment(world: World): string {
  const [first] = world.port.held;
  const where = first === undefined ? 'while the disk rests' : `${first.phase === 'acted' ? 'after' : 'before'} ${first.call.kind} of ${first.call.path.replace(/[0-9a-f]{28}/, '…')} ${first.phase === 'acted' ? 'and before its answer' : 'acts'}`;
  return world.process.brain === null ? `during its start, ${where}` : where;
}
