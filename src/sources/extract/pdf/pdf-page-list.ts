const maxRuns = 40

/** Pages for people, such as `pages 1–3, 7`; of very many runs the first ones, and how many others there are. */
export function pageList(pages: readonly number[]): string {
  const runs: [first: number, last: number][] = []
  for (const page of pages.toSorted((one, other) => one - other)) {
    const run = runs.at(-1)
    if (run !== undefined && page <= run[1] + 1) run[1] = page
    else runs.push([page, page])
  }
  const shown = runs.slice(0, maxRuns).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
  const rest = runs.slice(maxRuns).reduce((sum, [first, last]) => sum + last - first + 1, 0)
  return `${pages.length === 1 ? 'page' : 'pages'} ${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} others`}`
}
