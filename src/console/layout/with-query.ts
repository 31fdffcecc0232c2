export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}
