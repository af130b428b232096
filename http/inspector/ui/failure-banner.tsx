/** What is wrong, in words, and where a token would help, the place to enter one. */
import type { Failure } from '../model/failure.ts';
import { TokenForm } from './token-form.tsx';

interface FailureBannerProps {
  readonly failure: Failure;
  readonly onToken: (token: string) => void;
}

export function FailureBanner({ failure, onToken }: FailureBannerProps) {
  const needsToken = failure.kind === 'token_missing' || failure.kind === 'token_too_narrow';
  return (
    <div className={`banner banner-${failure.kind}`} role="alert">
      <p>{failure.text}</p>
      {needsToken && <TokenForm onToken={onToken} />}
    </div>
  );
}
