import { ExtractionError, type Extractor } from '../../../extracted.ts'
import { docxHtmlToMarkdown } from '../docx-html.ts'
import { OdfHtml } from './odf-html.ts'
import { OdfPackage } from './odf-package.ts'

/** A text document (OpenDocument) as it stands with its changes accepted; comments, forms and generated contents are left out. */
export const extractOdt: Extractor = async ({ file }) => {
  const document = await OdfPackage.open(file, 'text')
  const writer = new OdfHtml(document.styles())
  document.scan(writer)
  const html = writer.html()
  const markdown = docxHtmlToMarkdown(html)
  if (markdown === '') throw new ExtractionError('empty', 'The document has no text.')
  const heading = /^#{1,6} (.+)$/m.exec(markdown)?.[1]
  return { title: document.title() ?? heading, markdown, anchors: [], warnings: [] }
}
