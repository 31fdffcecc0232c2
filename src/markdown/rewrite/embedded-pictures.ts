import { createHash, randomUUID } from 'node:crypto'
import { maxFileBytes } from '../../rules/check/checked-file.ts'
import { slugify } from '../../rules/paths/slug.ts'
import { parseNeuronFile } from '../file/neuron-file.ts'
import type { ParserPool } from '../pool/parser-pool.ts'

const scheme = /data:image\/(png|jpeg|gif|webp|avif);base64,/gi
const notBase64 = /[^a-z0-9+/]/gi
/** Number of base64 characters below which a picture stays embedded. */
const least = 40
const pictureText = /!\[([^[\]\n]*)\]\(<?$/
const maxPictureText = 200

/** Page and its pictures by file name, which are stored in a folder next to the page. */
export type PageWithPictures = { text: string; pictures: Map<string, Buffer> }

/**
 * Extracts pictures that are embedded in a page as data URLs. Text that the parser does not see as a picture, as in code and front matter,
 * stays as it is.
 */
export async function extractPictures(parser: Pick<ParserPool, 'links'>, page: string): Promise<PageWithPictures> {
  const pictures = new Map<string, Buffer>()
  const found = embeddedPictures(page)
  if (found.length === 0) return { text: page, pictures }
  const mark = randomUUID()
  // Parses the page without the data, which is most of it.
  const short = replaced(page, found, ({ start }) => `${mark}${start}.png`)
  const { links } = await parser.links(parseNeuronFile(short).content)
  const shown = new Set(links.flatMap(({ target, embed }) => (embed ? [target] : [])))
  const text = replaced(page, found, ({ start, end, type, base64 }) => {
    const bytes = Buffer.from(base64, 'base64')
    if (!shown.has(`${mark}${start}.png`) || bytes.length > maxFileBytes) return page.slice(start, end)
    const [, alt = ''] = pictureText.exec(page.slice(Math.max(0, start - maxPictureText), start)) ?? []
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    const name = `attachments/${slugify(alt.trim() || 'picture', 40)}-${hash}.${type.toLowerCase().replace('jpeg', 'jpg')}`
    pictures.set(name, bytes)
    return name
  })
  return { text, pictures }
}

/** Returns a page without the data of embedded pictures. */
export function withoutPictureBytes(page: string): string {
  return replaced(page, embeddedPictures(page), () => '')
}

/** Range, type and data of a picture that a page embeds as a data URL. */
type EmbeddedPicture = { start: number; end: number; type: string; base64: string }

/** Finds embedded pictures. A single pattern for the whole URL would exhaust the stack on a large picture. */
function embeddedPictures(page: string): EmbeddedPicture[] {
  return Array.from(page.matchAll(scheme), ({ 0: { length }, 1: type = '', index: start }) => {
    notBase64.lastIndex = start + length
    const base64 = page.slice(start + length, notBase64.exec(page)?.index ?? page.length)
    const end = start + length + base64.length
    return { start, end: end + (/^={0,2}/.exec(page.slice(end, end + 2))?.[0].length ?? 0), type, base64 }
  }).filter(({ base64 }) => base64.length >= least)
}

function replaced(page: string, found: readonly EmbeddedPicture[], by: (picture: EmbeddedPicture) => string): string {
  let text = ''
  let at = 0
  for (const picture of found) {
    text += page.slice(at, picture.start) + by(picture)
    at = picture.end
  }
  return text + page.slice(at)
}
