/** Where the pages of a knowledge base begin. */
export function kbPath(slug: string): string {
  return `/kb/${encodeURIComponent(slug)}`
}

export function neuronPath(slug: string, seqId: string): string {
  return `${kbPath(slug)}/neurons/${encodeURIComponent(seqId)}`
}

export function sourcePath(slug: string, documentId: string): string {
  return `${kbPath(slug)}/sources/${encodeURIComponent(documentId)}`
}

export function candidatePath(candidateId: string): string {
  return `/queue/${encodeURIComponent(candidateId)}`
}

/** A path with those parameters that have a value. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters}`
}
