import { largestBundle } from '../kb/refs/candidate-head-names.ts'
import type { PushedMain } from '../kb/writing/push-main.ts'
import type { TakenNeuron } from '../kb/writing/take-neurons.ts'
import type { Decision } from '../rules/candidates/candidate.ts'
import type { Finding } from '../rules/neurons/neuron.ts'
import { folderChanges } from '../rules/paths/folder-changes.ts'
import { compareText, oneLine } from '../rules/text/lines.ts'
import type { ProposedNeuron } from './push-proposals.ts'

/** Maximum lines: more would scroll the rest out of sight. */
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
  const isPlain = ({ dismissal }: TakenNeuron) => dismissal === undefined
  const changed = neurons.filter(isPlain).map((neuron) => ({ ...neuron, removes: neuron.verb === 'Remove' }))
  const { folders, others: single } = folderChanges(changed)
  const moves = folders.map(({ from, to, pages }) =>
    to === undefined
      ? `  removed ${pages.length} Neurons from ${from}`
      : `  moved ${pages.length} Neurons from ${from} to ${to}`,
  )
  const others = [...single, ...neurons.filter((neuron) => !isPlain(neuron))]
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

export function proposalLines(neurons: readonly ProposedNeuron[], urlOf: (candidateId: string) => string): string[] {
  const left = neurons.filter(({ state }) => state === 'waiting')
  const pushed = neurons.filter(({ state }) => state !== 'waiting')
  const isPlain = ({ dismissal, state }: ProposedNeuron) => dismissal === undefined && state !== 'withdrawn'
  const { folders, others: single } = folderChanges(pushed.filter(isPlain))
  const moves = folders.flatMap(({ from, to, pages }) => {
    const ids = pages.map(({ candidateId }) => candidateId)
    const bundle = ids.length > largestBundle ? [] : [`    refs/candidates/${ids.join('+')}/head`]
    const what = to === undefined ? `remove from ${from}` : `move from ${from} to ${to}`
    return [`  ${pages.length} Neurons to ${what}, in one entry of the queue ${urlOf(ids[0] ?? '')}`, ...bundle]
  })
  const others = [...single, ...pushed.filter((neuron) => !isPlain(neuron))]
  const told = others.flatMap(({ candidateId, title, state, dismissal }) => {
    const what = `"${oneLine(title, 100)}" ${urlOf(candidateId)}`
    if (state === 'approved') return [`  approved already: ${what}`]
    if (state === 'withdrawn') return [`  withdrawn ${what}`]
    const earlier = dismissal === undefined ? [] : [`    an earlier proposal of it was ${saidOf(dismissal)}`]
    return [`  ${state} ${what}`, `    refs/candidates/${candidateId}/head`, ...earlier]
  })
  const lines = shortened(pushed.length === 0 ? [nothingProposed] : [...moves, ...told])
  const [tests = []] = pushed.flatMap((neuron) => (neuron.tests === undefined ? [] : [neuron.tests]))
  return [
    ...lines,
    ...tests.map((path) => `  ${oneLine(path, 200)} comes with the first that is approved`),
    ...nextStep(
      pushed,
      lines.some((line) => line.includes('refs/candidates/')),
    ),
    ...leftLines(left),
  ]
}

const nothingProposed = 'main says so already: nothing was proposed.'

function nextStep(pushed: readonly ProposedNeuron[], hasRef: boolean): string[] {
  const waiting = pushed.filter(({ state }) => state === 'new' || state === 'updated' || state === 'unchanged').length
  if (waiting > 0) {
    const [waits, it] = waiting === 1 ? ['It waits', 'it'] : ['They wait', 'one']
    return [`${waits} for a curator${hasRef ? `; git fetch origin <ref> brings ${it} for review` : ''}.`]
  }
  return pushed.some(({ state }) => state === 'approved') ? ['git pull --rebase brings it from main.'] : []
}

/** Returns lines on proposals that the push does not contain. They may be withdrawn or from another branch, which look the same. */
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

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - maxShown
  return more > 0 ? [...lines.slice(0, maxShown), `  … and ${more} lines more.`] : [...lines]
}

const maxLines = 50
const maxLineLength = 500
/** Matches characters that a terminal could take for a command, that are invisible, or that reorder the text. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Formats findings for the pusher's terminal: `path:line: reason`, errors first. Shows at most 50, and the number of the others.
 * Escapes control, invisible and bidi characters.
 */
export function formatFindings(findings: readonly Finding[]): string[] {
  const rank = ({ severity }: Finding) => Number(severity === 'warning')
  const inOrder = [...findings].sort((a, b) => rank(a) - rank(b) || compareText(a.path, b.path) || a.line - b.line)
  const lines = inOrder.slice(0, maxLines).map(formatFinding)
  const more = inOrder.length - lines.length
  return more > 0 ? [...lines, `… and ${more} more.`] : lines
}

function formatFinding({ severity, path, line, message }: Finding): string {
  const place = path === '' ? '' : `${escapeUnsafe(path)}:${line}: `
  const kind = severity === 'warning' ? 'warning: ' : ''
  return place + kind + escapeUnsafe(message)
}

function escapeUnsafe(text: string): string {
  const cut = text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text
  return cut.replace(unsafe, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `\\u{${digits}}`
  })
}
