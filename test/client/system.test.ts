/** The client on the network that Node has. */
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { Brain } from '../../client/index.ts';
import { gate } from '../support/gate.ts';
import { LocalServer } from '../support/local-server.ts';
import { SESSION } from '../support/scripted-fetch.ts';

describe('a send over the fetch of Node', () => {
  it('waits longer than Node does by itself', async () => {
    const opened = gate();
    const server = await LocalServer.start((request, response) => {
      const answer = { ...SESSION, sequence: 3, outcome: 'ended' };
      if (request.url === '/v1/sessions') response.end(JSON.stringify(answer));
      else void opened.opened.then(() => response.end(JSON.stringify(answer)));
    });
    const usual = getGlobalDispatcher();
    setGlobalDispatcher(new Agent({ headersTimeout: 100 }));
    try {
      const session = await new Brain(server.url).sessions.create();
      const sending = session.send('hello');
      // By then both would have been given up.
      await expect(fetch(`${server.url}/held`)).rejects.toThrow();
      opened.open();

      expect((await sending).outcome).toBe('ended');
    } finally {
      setGlobalDispatcher(usual);
      await server.close();
    }
  });
});
