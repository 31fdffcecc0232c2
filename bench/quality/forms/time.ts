import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Form } from './form.ts'
import { gatherJudgements, inLine } from './judgements.ts'

/** The collection has 425 articles. Its known copies lack two: the text of article 504 runs into that of 506. */
const lost = { after: '504', before: '507', count: 2 }

/** TIME: articles of the magazine of 1963 (SMART's collection, as the University of Glasgow distributes it). */
export const time: Form = {
  marker: 'TIME.ALL',
  read: async (folder) => {
    const read = (name: string) => readFile(join(folder, name), 'latin1')
    const queries = parts(await read('TIME.QUE'), 'FIND').map(({ number, text }) => ({ id: number, text }))
    const judged = (await read('TIME.REL')).split(/\r?\n/).flatMap((line) => {
      const [query = '', ...documents] = line.trim().split(/\s+/)
      return documents.map((document) => ({ query, document, grade: 1 }))
    })
    return { documents: numbered(parts(await read('TIME.ALL'), 'TEXT')), queries, judgements: gatherJudgements(judged) }
  },
}

/** `*TEXT number date page` begins an article, `*FIND number` a query; `*STOP` is the end. */
function parts(file: string, name: string): { number: string; text: string }[] {
  return file
    .split(/^\*STOP/m, 1)
    .join('')
    .split(new RegExp(`^\\*${name} +`, 'm'))
    .slice(1)
    .map((part) => {
      const [head = '', ...lines] = part.split(/\r?\n/)
      return { number: head.split(' ', 1).join('').trim(), text: inLine(lines.join('\n')) }
    })
}

/** The judgements count the articles by their order; an article has no title. */
function numbered(articles: readonly { number: string; text: string }[]) {
  let position = 0
  return articles.map(({ number, text }, index) => {
    position += number === lost.before && articles[index - 1]?.number === lost.after ? lost.count + 1 : 1
    return { id: String(position), title: '', text }
  })
}
