/** Paths of the console's pages on this server. */

export function kbPage(kbSlug: string): string {
  return `/kb/${encodeURIComponent(kbSlug)}`
}

export function neuronPage(kbSlug: string, seqId: string): string {
  return `${kbPage(kbSlug)}/neurons/${encodeURIComponent(seqId)}`
}

/** Returns the path of the list of pages past their date. */
export function stalePage(kbSlug: string): string {
  return `${kbPage(kbSlug)}/stale`
}

/** Returns the path of a candidate in the queue. */
export function candidatePage(candidateId: string): string {
  return `/queue/${encodeURIComponent(candidateId)}`
}

/** Returns the path of the page that previews candidates before they are approved. */
export function previewPage(candidateIds: readonly string[]): string {
  return `/preview/${candidateIds.join(',')}`
}

/** Returns the path of a candidate after its submission, with a notice. */
export function proposedPage(candidateId: string): string {
  return `${candidatePage(candidateId)}?proposed=1`
}

/** Returns the path of a Neuron's version at a commit. */
export function versionPage(kbSlug: string, seqId: string, commit: string): string {
  return `${neuronPage(kbSlug, seqId)}?at=${encodeURIComponent(commit)}`
}

export function filePage(kbSlug: string, path: string): string {
  return `${kbPage(kbSlug)}/files/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Returns the path of the editor for a new page with this title. */
export function newPage(kbSlug: string, title: string): string {
  return `${kbPage(kbSlug)}/new?title=${encodeURIComponent(title)}`
}

/** Returns the path of a folder's page. @param folder path below `neurons/`; empty for `neurons/` itself */
export function treePage(kbSlug: string, folder: string): string {
  return `${kbPage(kbSlug)}/tree${folder === '' ? '' : `?folder=${encodeURIComponent(folder)}`}`
}

/** Returns the path of the pages with a tag. */
export function tagPage(kbSlug: string, tag: string): string {
  return `${kbPage(kbSlug)}/tags?tag=${encodeURIComponent(tag)}`
}

/** A position in a Source, from a Neuron's reference. A range of pages or slides is `5-9`. */
export type SourcePlace = {
  page?: string | number | undefined
  slide?: string | number | undefined
  sheet?: string | undefined
  /** Position in a recording, in seconds. */
  time?: string | number | undefined
}

export function sourcesPage(kbSlug: string): string {
  return `${kbPage(kbSlug)}/sources`
}

/** Returns the path of a Source, or of a position in its text. */
export function sourcePage(kbSlug: string, id: string, place: SourcePlace = {}): string {
  const path = `${sourcesPage(kbSlug)}/${encodeURIComponent(id)}`
  const found = keyOf(place)
  if (found === undefined) return path
  const [name, value] = found
  return `${path}?${name}=${encodeURIComponent(value)}#${placeId(place)}`
}

/** Returns the id of the element at a position. */
export function placeId(place: SourcePlace): string | undefined {
  const found = keyOf(place)
  return found && `${found[0]}-${encodeURIComponent(found[1])}`
}

function keyOf({ page, slide, sheet, time }: SourcePlace): [name: string, value: string] | undefined {
  if (page !== undefined) return ['page', firstOf(page)]
  if (slide !== undefined) return ['slide', firstOf(slide)]
  if (sheet !== undefined) return ['sheet', sheet]
  return time === undefined ? undefined : ['time', String(Math.floor(Number(time)) || 0)]
}

function firstOf(span: string | number): string {
  return String(Number.parseInt(String(span), 10) || 1)
}
