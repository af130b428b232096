import { loadRunAgentLoop } from '../../../../services/loops/pi-library.ts';
import { piLoop } from '../../../../services/loops/pi.ts';
import { describeLoop } from './loop-suite.ts';

describeLoop(piLoop(loadRunAgentLoop));
