/** Loaded into the server under torture before its own code: it collects its garbage when it is told to, so that what is left can be measured. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
