/** What an operator starts. The build puts all that it loads into this one file: `cli/build.mjs`. */
import './serve.ts';
