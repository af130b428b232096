import { chatLoop } from '../../../../services/loops/chat.ts';
import { describeLoop } from './loop-suite.ts';

describeLoop(chatLoop);
