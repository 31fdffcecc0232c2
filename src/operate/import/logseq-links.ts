import { readFile } from 'node:fs/promises'
import { formatDestination } from '../../markdown/links/markdown-link.ts'
import { fileTitle } from '../../markdown/neuron-title.ts'
import { isWritableTarget } from '../../markdown/rewrite/rewrite-links.ts'
import { barePath, linkKey } from '../../rules/links/link-target.ts'
import { meantName } from '../../rules/links/tool-spellings.ts'
import { cutText } from '../../rules/text/whole-characters.ts'
import type { PlannedFile } from './import-plan.ts'
import type { NoteNotice } from './read-notes.ts'

/** Block of a graph: the path of its page, its anchor on the page (empty for the page itself), and the beginning of its text. */
type Block = { page: string; place: string; text: string }

/** Blocks of a graph by id. `piped`: paths of pages with a pipe in their name, by the key of the name. */
export type LogseqGraph = { blocks: Map<string, Block>; piped: Map<string, string>; notices: NoteNotice[] }

const id = '([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})'
const idLine = new RegExp(`^([ \\t]*(?:- )?)id:: ${id}[ \\t]*$`, 'i')
const indentedId = new RegExp(`^([ \\t]+|[ \\t]*- )id:: ${id}[ \\t]*$`, 'gim')
/** Matches an embedded block, a block with a label, a block, or a link to a page with a pipe in its name. */
const reference = new RegExp(
  `\\{\\{embed \\(\\(${id}\\)\\)\\s*\\}\\}|\\[([^[\\]\\n]*)\\]\\(\\(\\(${id}\\)\\)\\)|\\(\\(${id}\\)\\)|\\[\\[([^[\\]|\\n]*\\|[^[\\]\\n]*)\\]\\]`,
  'gi',
)
const maxText = 100

/** Reads the blocks with ids, and the names with pipes, of all notes of a Logseq graph. */
export async function readLogseqGraph(notes: readonly PlannedFile[]): Promise<LogseqGraph> {
  const graph: LogseqGraph = { blocks: new Map(), piped: new Map(), notices: [] }
  const references: { id: string; origin: string; line: number }[] = []
  for (const { absolute, origin, path } of notes) {
    const text = await readFile(absolute, 'utf8').catch(() => '')
    let block = ''
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const [, indent, ownId] = idLine.exec(line) ?? []
      if (/^\s*- /.test(line)) block = ownId === undefined ? line.replace(/^\s*- /, '') : ''
      const title = index < 20 ? /^title:: (.+)$/.exec(line)?.[1] : undefined
      for (const name of [title ?? '', index === 0 ? meantName(fileTitle(origin)) : ''])
        if (name.includes('|')) graph.piped.set(linkKey(name), path)
      if (ownId !== undefined) {
        const place = indent === '' ? '' : `#^${ownId.toLowerCase()}`
        graph.blocks.set(ownId.toLowerCase(), { page: path, place, text: place === '' ? '' : shownText(block) })
      }
      for (const [, embedded, , labelled, plain] of line.matchAll(reference)) {
        const found = embedded ?? labelled ?? plain
        if (found !== undefined) references.push({ id: found.toLowerCase(), origin, line: index + 1 })
      }
    }
  }
  for (const { id, origin, line } of references)
    if (!graph.blocks.has(id))
      graph.notices.push({ path: origin, line, message: `No block of the folder has the id ((${id})).` })
  return graph
}

/**
 * Rewrites a Logseq page's references to blocks as links: `((uuid))` becomes `[[page#^uuid|text]]`, and the property `id::` of a block
 * its `^uuid`. A link to a page whose name has a pipe becomes a Markdown link. References to unknown blocks stay.
 */
export function fromLogseq(text: string, { blocks, piped }: LogseqGraph): string {
  return text
    .replace(
      reference,
      (written, embedded?: string, label?: string, labelled?: string, plain?: string, name?: string) => {
        const page = name === undefined ? undefined : piped.get(linkKey(name))
        if (name !== undefined) return page === undefined ? written : markdownLink(name, page, '')
        const block = blocks.get((embedded ?? labelled ?? plain ?? '').toLowerCase())
        if (block === undefined) return written
        const [target, shown] = [barePath(block.page), shownText(label ?? block.text)]
        const link = isWritableTarget(target)
          ? `[[${target}${block.place}${shown === '' ? '' : `|${shown}`}]]`
          : markdownLink(shown === '' ? target : shown, block.page, block.place)
        return `${embedded === undefined ? '' : '!'}${link}`
      },
    )
    .replace(indentedId, (_, indent: string, own: string) => `${indent}^${own.toLowerCase()}`)
}

function markdownLink(text: string, page: string, place: string): string {
  return `[${text.replace(/[\\[\]|]/g, '\\$&')}](${formatDestination(page.replace(/^neurons/, ''))}${place})`
}

/** Returns the beginning of a block as the text of a link. */
function shownText(block: string): string {
  const plain = block.replace(/\(\([0-9a-f-]+\)\)|!?\[\[|\]\]|\]\([^()\s]*\)|[[\]|`*_#^\\]/gi, ' ')
  return cutText(plain.replace(/\s+/g, ' ').trim(), maxText).trim()
}
