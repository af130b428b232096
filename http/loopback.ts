/** Which names and addresses lead to this very machine. */

/** A host without its port: `localhost`, `127.0.0.1` and the rest of its block, `::1` with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || name === '[::1]' || isLoopbackIpv4(name);
}

/** A `Host` header or the part of a URL after its scheme: a host, perhaps with a port. */
export function isLoopbackAuthority(authority: string): boolean {
  const host = /^(\[[^\]]*\]|[^:]*)(?::[0-9]{1,5})?$/.exec(authority)?.[1];
  return host !== undefined && host !== '::1' && isLoopbackHost(host);
}

/** All four numbers are asked for: `127.example.com` is somebody's name. */
function isLoopbackIpv4(name: string): boolean {
  const numbers = /^127\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$/.exec(name)?.slice(1);
  return numbers !== undefined && numbers.every((number) => Number(number) <= 255);
}
