import { largestBundle } from '../kb/refs/candidate-head-names.ts'
import type { PushedMain } from '../kb/writing/push-main.ts'
import type { TakenNeuron } from '../kb/writing/take-neurons.ts'
import type { Decision } from '../rules/candidates/candidate.ts'
import { oneLine } from '../rules/text/lines.ts'
import type { ProposedNeuron } from './push-proposals.ts'

/** More would scroll the rest out of sight. */
const maxShown = 20
const maxLeft = 5
const done: Readonly<Record<TakenNeuron['verb'], string>> = {
  Add: 'added',
  Update: 'updated',
  Restore: 'restored',
  Remove: 'removed',
}

export function mainLines({ commit, neurons }: PushedMain, urlOf: (seqId: string) => string): string[] {
  if (commit === undefined) return ['main has all of it already: nothing was changed.']
  const { folders, others } = movedFolders(neurons)
  const moves = folders.map(({ from, to, pages }) => `  moved ${pages.length} Neurons from ${from} to ${to}`)
  const told = others.flatMap(({ verb, seqId, title, path, pushedPath, candidateId, dismissal }) => {
    const where = verb === 'Remove' ? '' : ` ${urlOf(seqId)}`
    const overruled =
      dismissal === undefined
        ? []
        : [`    its candidate ${candidateId} was ${saidOf(dismissal)}: the push reopened and approved it`]
    const isNew = verb === 'Add' || verb === 'Restore'
    const place =
      isNew && pushedPath !== undefined
        ? [`    ${oneLine(pushedPath, 200)} was taken meanwhile: the page is ${oneLine(path, 200)}`]
        : []
    return [`  ${done[verb]} ${seqId} "${oneLine(title, 100)}"${where}`, ...place, ...overruled]
  })
  return [
    ...shortened([...moves, ...told]),
    `main is now ${commit.slice(0, 12)}: git pull brings what the server added to your pages.`,
  ]
}

/** What a pusher to `refs/for/main` reads. */
export function proposalLines(neurons: readonly ProposedNeuron[], urlOf: (candidateId: string) => string): string[] {
  const left = neurons.filter(({ state }) => state === 'waiting')
  const pushed = neurons.filter(({ state }) => state !== 'waiting')
  const { folders, others } = movedFolders(pushed)
  const moves = folders.flatMap(({ from, to, pages }) => {
    const ids = pages.map(({ candidateId }) => candidateId)
    const bundle = ids.length > largestBundle ? [] : [`    refs/candidates/${ids.join('+')}/head`]
    return [`  ${pages.length} Neurons to move from ${from} to ${to}, each a candidate`, ...bundle]
  })
  const told = others.flatMap(({ candidateId, title, state, dismissal }) => {
    const what = `"${oneLine(title, 100)}" ${urlOf(candidateId)}`
    if (state === 'approved') return [`  approved already: ${what}`]
    if (state === 'withdrawn') return [`  withdrawn ${what}`]
    const earlier = dismissal === undefined ? [] : [`    an earlier proposal of it was ${saidOf(dismissal)}`]
    return [`  ${state} ${what}`, `    refs/candidates/${candidateId}/head`, ...earlier]
  })
  return [
    ...shortened(pushed.length === 0 ? [nothingProposed] : [...moves, ...told]),
    ...nextStep(pushed),
    ...leftLines(left),
  ]
}

const nothingProposed = 'main says so already: nothing was proposed.'

function nextStep(pushed: readonly ProposedNeuron[]): string[] {
  if (pushed.some(({ state }) => state === 'new' || state === 'updated' || state === 'unchanged')) {
    return ['It waits for a curator; git fetch origin <ref> brings it for review.']
  }
  return pushed.some(({ state }) => state === 'approved') ? ['git pull --rebase brings it from main.'] : []
}

/** A page that was removed from a branch looks the same as one that was never on it. */
function leftLines(left: readonly ProposedNeuron[]): string[] {
  if (left.length === 0) return []
  const lines = left
    .slice(0, maxLeft)
    .map(({ candidateId, title }) => `  "${oneLine(title, 100)}": git push origin :refs/candidates/${candidateId}/head`)
  const more = left.length - lines.length
  return [
    'Not in this push, and still waiting from earlier ones. To withdraw:',
    ...lines,
    ...(more > 0 ? [`  … and ${more} more.`] : []),
  ]
}

function saidOf({ by, reason }: Decision): string {
  const why = reason === undefined ? '' : ` ("${oneLine(reason, 200)}")`
  return `dismissed by ${oneLine(by.name, 100)}${why}`
}

type MovedFolder<Page> = { from: string; to: string; pages: Page[] }

/** Puts together pages that moved with their folder and are otherwise as they were. */
function movedFolders<Page extends Pick<ProposedNeuron, 'path' | 'movedFrom' | 'dismissal'>>(
  pages: readonly Page[],
): { folders: MovedFolder<Page>[]; others: Page[] } {
  const found = new Map<string, MovedFolder<Page>>()
  for (const page of pages) {
    const { path, movedFrom, dismissal } = page
    if (path === undefined || movedFrom === undefined || dismissal !== undefined) continue
    const [to, from] = [path.split('/'), movedFrom.split('/')]
    if (to.at(-1) !== from.at(-1)) continue
    while (to.at(-1) === from.at(-1)) [to, from].map((segments) => segments.pop())
    const names = [from, to].map((segments) => oneLine(`${segments.join('/')}/`, 200)) as [string, string]
    const key = JSON.stringify(names)
    const folder = found.get(key) ?? { from: names[0], to: names[1], pages: [] }
    folder.pages.push(page)
    found.set(key, folder)
  }
  const folders = [...found.values()].filter(({ pages }) => pages.length > 1)
  const told = new Set(folders.flatMap((folder) => folder.pages))
  return { folders, others: pages.filter((page) => !told.has(page)) }
}

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - maxShown
  return more > 0 ? [...lines.slice(0, maxShown), `  … and ${more} lines more.`] : [...lines]
}
