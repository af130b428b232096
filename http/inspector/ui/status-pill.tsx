export function StatusPill({ status }: { readonly status: string }) {
  return (
    <span className="pill" data-status={status.split('.')[0]}>
      {status}
    </span>
  );
}
