import type { Neuron } from '../../contract/neurons.ts'
import type { KbView } from '../../kb/access/kb-view.ts'
import type { LinkView } from '../../kb/access/link-view.ts'
import { linksOf } from '../../kb/projection/link-queries.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { linkPattern } from '../../markdown/links/pattern-links.ts'
import { linesOf } from '../../markdown/parse/split-blocks.ts'
import { parseWikiLinkText } from '../../markdown/parse/wiki-link-text.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { sentencesOf } from '../../rules/text/sentences.ts'

/** Page that links to another, with the sentence around the first such link; without one if the link is in the front matter. */
export type Mention = Neuron['backlinks'][number] & { sentence?: string }

const maxSentence = 300
const blockMark = /^[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?/
const label = /!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(<?[^\s<>()]+>?\)/g

/** Returns the sentences in which Neurons link to one. @param backlinks as in `links` */
export async function findMentions(
  view: KbView,
  links: LinkView,
  { seqId, backlinks }: { seqId: string; backlinks: Neuron['backlinks'] },
): Promise<Mention[]> {
  const { language } = await view.kb.settings()
  return Promise.all(
    backlinks.map(async (backlink) => {
      const sentence = await sentenceOf(view, links, { from: backlink.seqId, to: seqId, type: backlink.type, language })
      return sentence === undefined ? backlink : { ...backlink, sentence }
    }),
  )
}

async function sentenceOf(
  view: KbView,
  linkView: LinkView,
  { from, to, type, language }: { from: string; to: string; type: string; language: string },
): Promise<string | undefined> {
  const links = (view.about(from, linksOf) ?? []).filter((link) => link.line !== null && link.type === type)
  const link = links.find((one) => linkView.edgeOf(one)?.target === to)
  const neuron = view.about(from, findNeuron)
  if (link === undefined || link.line === null || neuron === undefined) return undefined
  const content = shownContent(parseNeuronFile(await view.kb.repository.readText(neuron.blob)))
  const line = linesOf(content)[link.line - 1]?.text.replace(blockMark, '') ?? ''
  const sentence = sentencesOf(line, language).find(({ text }) => text.includes(link.target))?.text ?? line
  return oneLine(withoutMarkup(sentence).replaceAll(to, linkView.titleOf(to)), maxSentence)
}

/** Returns a line approximately as readers see it, which is enough to recognize it. */
function withoutMarkup(line: string): string {
  return line
    .replace(linkPattern, (whole: string, _mark: string, wiki?: string) => {
      const link = wiki === undefined ? undefined : parseWikiLinkText(wiki)
      return link === undefined ? whole : (link.alias ?? link.target)
    })
    .replace(label, '$1')
    .replace(/[*`~|]+|(?<!\w)_+|(?<!_)_+(?!\w)/g, '')
    .trim()
}
