/** The part of the browser's storage that drafts use. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** Key of a person's drafts of one page; without a seqId, of new pages. */
export type DraftPlace = readonly [personId: string, kbId: string, seqId: string]

/** The fields of a form that was not sent, or was sent without a response. */
export type Draft = {
  /** The commit of the version that was edited. */
  base: string
  fields: [name: string, value: string][]
  /** Time of the draft: ISO 8601. */
  at: string
  isSent: boolean
}

export type KeptDraft = Draft & {
  /** Id of the candidate that the edit will become. Every form has its own, so none overwrites the draft of another. */
  candidate: string
}

const prefix = 'ganglion-draft:'

export function keepDraft(storage: DraftStorage, place: DraftPlace, { candidate, ...draft }: KeptDraft): void {
  storage.setItem(keyOf(place, candidate), JSON.stringify(draft))
}

export function forgetDraft(storage: DraftStorage, place: DraftPlace, candidate: string): void {
  storage.removeItem(keyOf(place, candidate))
}

/** Drafts of one person for one page, latest first. */
export function draftsOf(storage: DraftStorage, place: DraftPlace): KeptDraft[] {
  const own = keyOf(place, '')
  return keysIn(storage)
    .filter((key) => key.startsWith(own))
    .flatMap((key) => {
      const draft = parse(storage.getItem(key))
      return draft === undefined ? [] : [{ ...draft, candidate: key.slice(own.length) }]
    })
    .sort((a, b) => (a.at < b.at ? 1 : -1))
}

/** Removes drafts that were sent and have become candidates. */
export async function forgetSent(
  storage: DraftStorage,
  isSubmitted: (candidate: string) => Promise<boolean>,
): Promise<void> {
  for (const key of keysIn(storage)) {
    const isSent = key.startsWith(prefix) && parse(storage.getItem(key))?.isSent === true
    if (isSent && (await isSubmitted(key.slice(key.lastIndexOf(':') + 1)))) storage.removeItem(key)
  }
}

/** Whether two states of a form are the same, so that there is nothing to keep. */
export function isSameForm(one: Draft['fields'], other: Draft['fields']): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function keyOf(place: DraftPlace, candidate: string): string {
  return `${prefix}${place.map(encodeURIComponent).join(':')}:${candidate}`
}

function keysIn(storage: DraftStorage): string[] {
  return Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '')
}

function parse(text: string | null): Draft | undefined {
  try {
    const draft = JSON.parse(text ?? '')
    return Array.isArray(draft.fields) && typeof draft.at === 'string' ? draft : undefined
  } catch {
    return undefined
  }
}
