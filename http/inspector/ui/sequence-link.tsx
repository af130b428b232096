/** A record by its sequence: to press it is to travel there. */
export function SequenceLink({ sequence, travel }: { readonly sequence: number; readonly travel: (to: number) => void }) {
  return (
    <button type="button" className="sequence-link" onClick={() => travel(sequence)}>
      {sequence}
    </button>
  );
}
