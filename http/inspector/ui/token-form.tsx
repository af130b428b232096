/** Takes the token that the server's answers need. */
import { useId, useState } from 'react';

export function TokenForm({ onToken }: { readonly onToken: (token: string) => void }) {
  const id = useId();
  const [token, setToken] = useState('');
  return (
    <form
      className="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') onToken(token.trim());
      }}
    >
      <label htmlFor={id}>Token</label>
      <input id={id} type="password" autoComplete="off" spellCheck={false} value={token} onChange={(event) => setToken(event.target.value)} />
      <button type="submit">Use it</button>
      <small>It stays in this tab, and is gone with it.</small>
    </form>
  );
}
