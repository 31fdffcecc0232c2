import type { Context } from '../kb/context.ts'
import type { SourceReference } from '../rules/neurons/neuron.ts'
import { cutText } from '../rules/text/whole-characters.ts'
import type { Anchor, Extracted } from '../sources/extracted.ts'
import { sourceTexts } from '../sources/ingest/source-texts.ts'

/** Part of a Source from which a page was compiled. */
export type SourcePassage = {
  /** Id of the Source; undefined if it does not exist any more. */
  id: string | undefined
  filename: string
  /** Place in the Source (pages, slides, sheet or second), as the page has it. */
  place: { [part in 'page' | 'slide' | 'sheet' | 'time']: string | undefined }
  /** Markdown as plain text; undefined if the text of the Source is not stored. */
  text: string | undefined
  /** True if only its beginning is shown. */
  isCut: boolean
}

const maxPassages = 3
const maxLength = 8_000
/** Lines of a Source shown around a sentence of the page, if its place is unknown. */
const linesBefore = 3
const linesShown = 40
/** Minimum length of a line of a page that is searched in the Source. */
const leastLine = 30

/** Returns the passages of the Sources that a page names, shown next to it in a review. */
export async function sourcePassages(
  ctx: Context,
  tenantId: string,
  { sources, content }: { sources: readonly SourceReference[]; content: string },
): Promise<SourcePassage[]> {
  return Promise.all(
    sources.slice(0, maxPassages).map(async (reference) => {
      const source = reference.id === undefined ? undefined : await ctx.sources.find(tenantId, reference.id)
      const extracted = source && (await sourceTexts(ctx).read(source))
      const { page, slide, sheet, time } = reference
      const text = extracted && passageOf(extracted, reference, content)
      return {
        id: source?.id,
        filename: source?.filename ?? reference.filename ?? 'Source',
        place: { page, slide, sheet, time },
        text: text && cutText(text, maxLength),
        isCut: (text?.length ?? 0) > maxLength,
      }
    }),
  )
}

function passageOf({ markdown, anchors }: Readonly<Extracted>, reference: SourceReference, content: string): string {
  const lines = markdown.split('\n')
  const [from, to] = linesAtPlace(anchors, reference) ?? linesOfContent(lines, content)
  return lines
    .slice(from - 1, to)
    .join('\n')
    .trim()
}

/** Returns the first and last line (1-based) of a place. */
function linesAtPlace(anchors: readonly Anchor[], reference: SourceReference): [number, number] | undefined {
  const { page, slide, sheet, time } = reference
  const isWithin = (anchor: Anchor) =>
    inSpan(anchor.page, page) ||
    inSpan(anchor.slide, slide) ||
    (sheet !== undefined && anchor.sheet === sheet) ||
    (time !== undefined && anchor.time !== undefined && String(anchor.time) === time)
  const first = anchors.findIndex(isWithin)
  const last = anchors.findLastIndex(isWithin)
  const [begin, end] = [anchors[first], anchors[last + 1]]
  return begin && [begin.line, end === undefined ? Number.POSITIVE_INFINITY : end.line - 1]
}

function inSpan(place: number | undefined, span: string | undefined): boolean {
  if (place === undefined || span === undefined) return false
  const [first, last = first] = span.split('-').map(Number)
  return first !== undefined && last !== undefined && place >= first && place <= last
}

/** Returns the lines around the first line that the page has from the Source, or the beginning. */
function linesOfContent(lines: readonly string[], content: string): [number, number] {
  const own = new Set(content.split('\n').filter((line) => line.trim().length >= leastLine))
  const found = Math.max(
    0,
    lines.findIndex((line) => own.has(line)),
  )
  return [Math.max(1, found + 1 - linesBefore), found + linesShown]
}
