import type { BlockDiff, LineDiff } from '../../pages/compare-pages.ts'
import { type Html, html, trusted } from './html-template.ts'

type Line = LineDiff['hunks'][number][number]

const signs = { same: '', removed: '−', added: '+' } as const
const words = { removed: 'Removed', added: 'Added', changed: 'Changed' } as const

export type TextDiff = { diff: LineDiff; before: string; after: string }

/** Renders the lines of two texts. With scripts, both whole texts are shown below each other or side by side (`islands/text-diff.ts`). */
export function textDiff({ diff, before, after }: TextDiff, place: 'below' | 'split'): Html {
  if (diff.hunks.length === 0 && !diff.isTruncated) return html`<p class="empty">The text is the same.</p>`
  // The JSON contains no `<`, so that it cannot end its script element.
  const data = trusted(JSON.stringify({ before, after }).replaceAll('<', '\\u003c'))
  return html`<div data-text-diff="${place}"><script type="application/json">${data}</script>${inlineDiff(diff)}</div>`
}

function inlineDiff({ hunks, isTruncated }: LineDiff): Html {
  const columns = ['Line before', 'Line after', 'Change', 'Text']
  const gap = html`<tr class="gap"><td colspan="4"><span class="unseen">Unchanged lines are left out</span></td></tr>`
  const row = (line: Line) => html`<tr class="${line.type}">
    <td class="number">${line.oldLine}</td><td class="number">${line.newLine}</td>
    <td class="sign">${sign(line.type)}</td><td class="text" dir="auto">${text(line)}</td></tr>`
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Changes">
    <table class="diff">
      <thead class="unseen"><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
      <tbody>${hunks.map((lines, index) => [index > 0 && gap, lines.map(row)])}</tbody>
    </table>
  </div>
  ${isTruncated && leftOut}`
}

/** Number of unchanged blocks that are shown before and after a change. */
const near = 1

/** Renders a page with its additions, removals and changes marked, and unchanged parts folded. A new page has no marks. */
export function pageDiff({ blocks, isTruncated }: BlockDiff): Html {
  const isNew = blocks.every(({ type }) => type === 'added')
  const runs: BlockDiff['blocks'][] = []
  for (const block of blocks) {
    const last = runs.at(-1)
    if (last !== undefined && (last[0]?.type === 'same') === (block.type === 'same')) last.push(block)
    else runs.push([block])
  }
  return html`<div class="content page-diff">
    ${runs.map((run, at) => {
      const all = run.map((block) => shown(block, isNew))
      const [from, to] = [at > 0 ? near : 0, run.length - (at < runs.length - 1 ? near : 0)]
      if (run[0]?.type !== 'same' || runs.length === 1 || to - from < 2) return all
      return html`${all.slice(0, from)}<details class="gap"><summary>${to - from} unchanged blocks</summary>${all.slice(from, to)}</details>${all.slice(to)}`
    })}
    ${isTruncated && leftOut}
  </div>`
}

function shown(block: BlockDiff['blocks'][number], isNew: boolean): Html {
  if (block.type === 'same') return trusted(block.after)
  if (block.type === 'removed') return marked('removed', block.before)
  if (block.type === 'added') return isNew ? trusted(block.after) : marked('added', block.after)
  return html`<div class="changed" role="group" aria-label="${words.changed}">
    ${block.marked === undefined ? html`${marked('removed', block.before)}${marked('added', block.after)}` : html`<div class="words">${trusted(block.marked)}</div>`}</div>`
}

const leftOut = html`<p class="warning">There is more: the rest is left out.</p>`

function marked(type: 'removed' | 'added', block: string): Html {
  return html`<div class="${type}" role="group" aria-label="${words[type]}"><span class="sign" aria-hidden="true">${signs[type]}</span>${trusted(block)}</div>`
}

function sign(type: Line['type']): Html | undefined {
  if (type === 'same') return undefined
  return html`<span aria-hidden="true">${signs[type]}</span><span class="unseen">${words[type]}:</span>`
}

/** Returns the text of a line, with changed words marked unless all have changed. */
function text({ type, parts }: Line): Html[] {
  const isMarked = parts.some(({ isChanged }) => !isChanged)
  return parts.map(({ text: part, isChanged }) => {
    const shown = foldPictures(part)
    if (!isChanged || !isMarked) return html`${shown}`
    return type === 'removed' ? html`<del>${shown}</del>` : html`<ins>${shown}</ins>`
  })
}

/** Returns a text without the bytes of its pictures, which nobody reads. */
export function foldPictures(text: string): string {
  return text.replace(
    /(data:image\/[\w+]+;base64,)([\w+/=]{40,})/g,
    (_, head: string, bytes: string) => `${head}… ${Math.ceil((bytes.length * 3) / 4096)} KB`,
  )
}
