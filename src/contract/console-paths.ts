/** Where people find things in the console: paths on this server. */

export function neuronPage(kbSlug: string, seqId: string): string {
  return `${kbPage(kbSlug)}/neurons/${encodeURIComponent(seqId)}`
}

export function filePage(kbSlug: string, path: string): string {
  return `${kbPage(kbSlug)}/files/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** The editor for a page of this title that is not there yet. */
export function newPage(kbSlug: string, title: string): string {
  return `${kbPage(kbSlug)}/new?title=${encodeURIComponent(title)}`
}

function kbPage(kbSlug: string): string {
  return `/kb/${encodeURIComponent(kbSlug)}`
}
