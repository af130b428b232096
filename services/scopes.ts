/** What a token may do. Each scope includes those before it. */
export const SCOPES = ['read', 'send', 'manage'] as const;
export type Scope = (typeof SCOPES)[number];
