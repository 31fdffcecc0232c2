import type { BlockDiff, LineDiff } from '../../pages/compare-pages.ts'
import { type Html, html, trusted } from './html-template.ts'

type Line = LineDiff['hunks'][number][number]

const signs = { same: '', removed: '−', added: '+' } as const
const words = { removed: 'Removed', added: 'Added', changed: 'Changed' } as const

/** The lines of two versions below each other, as in `diff -u`. */
export function inlineDiff(diff: LineDiff): Html {
  return table(diff, {
    columns: ['Line before', 'Line after', 'Change', 'Text'],
    rows: (lines) =>
      lines.map(
        (line) => html`<tr class="${line.type}">
          <td class="number">${line.oldLine}</td><td class="number">${line.newLine}</td>
          <td class="sign">${sign(line.type)}</td><td class="text" dir="auto">${text(line)}</td></tr>`,
      ),
  })
}

/** The lines of two versions beside each other. */
export function sideBySideDiff(diff: LineDiff): Html {
  return table(diff, {
    columns: ['Line before', 'Text before', 'Line after', 'Text after'],
    rows: (lines) =>
      pairsOf(lines).map(({ left, right }) => html`<tr>${half(left, 'oldLine')}${half(right, 'newLine')}</tr>`),
  })
}

/** A page with the blocks that came, went and changed marked in it. */
export function pageDiff({ blocks, isTruncated }: BlockDiff): Html {
  return html`<div class="content page-diff">
    ${blocks.map((block) => {
      if (block.type === 'same') return trusted(block.after)
      if (block.type !== 'changed') return marked(block.type, 'after' in block ? block.after : block.before)
      return html`<div class="changed" role="group" aria-label="${words.changed}">
        ${marked('removed', block.before)}${marked('added', block.after)}</div>`
    })}
    ${isTruncated && leftOut}
  </div>`
}

const leftOut = html`<p class="warning">There is more: the rest is left out.</p>`

function marked(type: 'removed' | 'added', block: string): Html {
  return html`<div class="${type}" role="group" aria-label="${words[type]}"><span class="sign" aria-hidden="true">${signs[type]}</span>${trusted(block)}</div>`
}

function table(
  { hunks, isTruncated }: LineDiff,
  { columns, rows }: { columns: readonly string[]; rows: (lines: Line[]) => Html[] },
): Html {
  if (hunks.length === 0 && !isTruncated) return html`<p class="empty">The text is the same.</p>`
  const gap = html`<tr class="gap"><td colspan="${columns.length}"><span class="unseen">Unchanged lines are left out</span></td></tr>`
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Changes">
    <table class="diff">
      <thead class="unseen"><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
      <tbody>${hunks.map((lines, index) => [index > 0 && gap, rows(lines)])}</tbody>
    </table>
  </div>
  ${isTruncated && leftOut}`
}

/** A removed line stands beside the added one that came for it. */
function pairsOf(lines: readonly Line[]): { left?: Line; right?: Line }[] {
  const pairs: { left?: Line; right?: Line }[] = []
  let waiting = 0
  for (const line of lines) {
    if (line.type === 'same') {
      pairs.push({ left: line, right: line })
      waiting = pairs.length
    } else if (line.type === 'removed') pairs.push({ left: line })
    else {
      const beside = pairs[waiting]
      if (beside === undefined) pairs.push({ right: line })
      else beside.right = line
      waiting++
    }
  }
  return pairs
}

function half(line: Line | undefined, side: 'oldLine' | 'newLine'): Html {
  if (line === undefined) return html`<td class="number"></td><td class="text"></td>`
  return html`<td class="number">${line[side]}</td><td class="text ${line.type}">${sign(line.type)} <span dir="auto">${text(line)}</span></td>`
}

function sign(type: Line['type']): Html | undefined {
  if (type === 'same') return undefined
  return html`<span aria-hidden="true">${signs[type]}</span><span class="unseen">${words[type]}:</span>`
}

/** Words that changed are marked as well as lines. */
function text({ type, parts }: Line): Html[] {
  const isMarked = parts.some(({ isChanged }) => !isChanged)
  return parts.map(({ text: part, isChanged }) => {
    if (!isChanged || !isMarked) return html`${part}`
    return type === 'removed' ? html`<del>${part}</del>` : html`<ins>${part}</ins>`
  })
}
