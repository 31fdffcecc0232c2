/** Where people find things in the console: paths on this server. */

export function kbPage(kbSlug: string): string {
  return `/kb/${encodeURIComponent(kbSlug)}`
}

export function neuronPage(kbSlug: string, seqId: string): string {
  return `${kbPage(kbSlug)}/neurons/${encodeURIComponent(seqId)}`
}

/** A version of a Neuron, by the commit that made it. */
export function versionPage(kbSlug: string, seqId: string, commit: string): string {
  return `${neuronPage(kbSlug, seqId)}?at=${encodeURIComponent(commit)}`
}

export function filePage(kbSlug: string, path: string): string {
  return `${kbPage(kbSlug)}/files/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** The editor for a page of this title that is not there yet. */
export function newPage(kbSlug: string, title: string): string {
  return `${kbPage(kbSlug)}/new?title=${encodeURIComponent(title)}`
}

/** @param folder below `neurons/`; empty: the outermost. */
export function treePage(kbSlug: string, folder: string): string {
  return `${kbPage(kbSlug)}/tree${folder === '' ? '' : `?folder=${encodeURIComponent(folder)}`}`
}

/** The pages of a tag. */
export function tagPage(kbSlug: string, tag: string): string {
  return `${kbPage(kbSlug)}/tags?tag=${encodeURIComponent(tag)}`
}

export function sourcePage(kbSlug: string, docId: string): string {
  return `${kbPage(kbSlug)}/sources/${encodeURIComponent(docId)}`
}
