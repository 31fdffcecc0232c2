export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [heading, ...rows]
    .map((row) =>
      widths
        .map((width, column) => (row[column] ?? '').padEnd(width))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
