/** Where there is no room for all panels, which of them is shown. Wide pages show all, and hide this. */
export const VIEWS = { chart: 'Chart', journal: 'Journal', state: 'State', timeline: 'Timeline' } as const;
export type ViewName = keyof typeof VIEWS;

interface ViewTabsProps {
  readonly shown: ViewName;
  readonly onShow: (view: ViewName) => void;
}

export function ViewTabs({ shown, onShow }: ViewTabsProps) {
  return (
    <nav className="view-tabs" aria-label="Parts of the session">
      {(Object.keys(VIEWS) as readonly ViewName[]).map((name) => (
        <button key={name} type="button" aria-pressed={name === shown} onClick={() => onShow(name)}>
          {VIEWS[name]}
        </button>
      ))}
    </nav>
  );
}
