declare module 'virtual:chart-layout' {
  // eslint-disable-next-line @typescript-eslint/consistent-type-imports -- such a declaration can name another file in no other way
  export const layout: import('./chart/chart-layout.ts').ChartLayout;
}
