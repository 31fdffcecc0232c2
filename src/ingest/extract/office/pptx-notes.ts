import type { OfficePackage } from './office-package.ts'
import { descendants } from './office-xml.ts'
import { paragraphsOf } from './pptx-text.ts'

/** The speaker's notes of a slide, quoted. */
export function notesOf(document: OfficePackage, slide: string): string[] {
  const name = document.relationships(slide).find(({ type }) => type === 'notesSlide')?.target
  const links = name === undefined ? [] : document.relationships(name)
  const body = descendants(name === undefined ? undefined : document.xml(name), 'sp').find((shape) =>
    descendants(shape, 'ph').some(({ attributes }) => attributes.type === 'body'),
  )
  const paragraphs = descendants(body, 'txBody').flatMap((text) => paragraphsOf(text, links))
  if (paragraphs.length === 0) return []
  return [`> **Notes**\n>\n${paragraphs.map(({ markdown }) => `> ${markdown}`).join('\n>\n')}`]
}
