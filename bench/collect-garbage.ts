/** Loaded into a server that is to be weighed, before its own code: it collects its garbage when it is told to. */
process.on('SIGUSR2', () => void globalThis.gc?.());
