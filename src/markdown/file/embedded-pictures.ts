import { createHash, randomUUID } from 'node:crypto'
import { maxFileBytes } from '../../rules/check/check-file.ts'
import { slugify } from '../../rules/paths/slug.ts'
import type { ParserPool } from '../pool/parser-pool.ts'
import { parseNeuronFile } from './neuron-file.ts'

const scheme = /data:image\/(png|jpeg|gif|webp|avif);base64,/gi
const notBase64 = /[^a-z0-9+/]/gi
/** Characters of a picture's bytes below which it stays. */
const least = 40
const pictureText = /!\[([^[\]\n]*)\]\(<?$/
const maxPictureText = 200

/** A page, and by their names the pictures that it shows as files of a folder beside it. */
export type PageWithPictures = { text: string; pictures: Map<string, Buffer> }

/**
 * Makes files of the pictures whose bytes stand in the text of a page. What the parser takes for no picture, as in code and in front
 * matter, stays as it is.
 */
export async function extractPictures(parser: Pick<ParserPool, 'links'>, page: string): Promise<PageWithPictures> {
  const pictures = new Map<string, Buffer>()
  const found = embeddedPictures(page)
  if (found.length === 0) return { text: page, pictures }
  const mark = randomUUID()
  // Parsing takes as long as a text is, and its bytes are most of it.
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

/** A page without the bytes of its pictures, whether they become files or not. */
export function withoutPictureBytes(page: string): string {
  return replaced(page, embeddedPictures(page), () => '')
}

/** A picture's address in a page. */
type EmbeddedPicture = { start: number; end: number; type: string; base64: string }

/** Looks for the end of the bytes by itself: a pattern for all of them exhausts the stack on a large picture. */
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
