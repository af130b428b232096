/** What a newcomer is told when the server is up: three lines to paste, to create a session, send to it and watch it. */

export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Lines that a shell takes as they are. The token is named and never shown. */
export function firstSteps(url: string, { needsToken }: { readonly needsToken: boolean }): string {
  const token = needsToken ? ' -H "Authorization: Bearer $BRAIN_API_KEY"' : '';
  const json = ` -H 'Content-Type: application/json'`;
  return [
    `SESSION=$(curl -s${token} -X POST ${url}/v1/sessions${json} -d '{}' | grep -o '[0-9a-f]\\{32\\}' | head -n 1)`,
    `curl -s${token} ${url}/v1/sessions/$SESSION/messages${json} -d '{"input":"What time is it, and what is 2 + 3?"}'; echo`,
    `curl -sN${token} -H 'Accept: text/event-stream' ${url}/v1/sessions/$SESSION/events`,
    '',
  ].join('\n');
}
