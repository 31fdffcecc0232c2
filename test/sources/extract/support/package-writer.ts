import { strToU8, zipSync } from 'fflate'

/** A book of these chapters of HTML, whose files run against their order. */
export function epub(chapters: readonly string[], { title = 'A book', encryption = '' } = {}): Uint8Array {
  const items = chapters.map(
    (_, at) => `<item id="c${at}" href="text/${chapters.length - at}.xhtml" media-type="application/xhtml+xml"/>`,
  )
  const spine = chapters.map((_, at) => `<itemref idref="c${at}"/>`)
  return zipped({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    ...(encryption === '' ? {} : { 'META-INF/encryption.xml': encryption }),
    'OEBPS/book.opf': `<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></metadata><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`,
    ...Object.fromEntries(
      chapters.map((html, at) => [`OEBPS/text/${chapters.length - at}.xhtml`, `<html><body>${html}</body></html>`]),
    ),
  })
}

function zipped(parts: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])))
}
