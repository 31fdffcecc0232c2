import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection } from './collection.ts'

/** In the judgements: the paper that the question was made from, which its author did not judge. */
const sourcePaper = -1

/**
 * The Cranfield collection (Cleverdon, "The Cranfield tests on index language devices", 1967) as its files have it:
 * `cran.all.1400`, `cran.qry`, `cranqrel`. The judgements count the queries by order, whatever number stands with them.
 * Their codes run from 1 for a complete answer to 4 for minimum interest; as grades they run from 4 down to 1.
 */
export async function readCranfield(folder: string): Promise<Omit<Collection, 'name'>> {
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const documents = records(await read('cran.all.1400')).map(({ id, fields }) => {
    return { id, title: fields.get('T') ?? '', text: fields.get('W') ?? '' }
  })
  const queries = records(await read('cran.qry')).map(({ fields }, index) => {
    return { id: String(index + 1), text: fields.get('W') ?? '' }
  })
  return { documents, queries, judgements: judgementsOf(await read('cranqrel')) }
}

/** SMART's form: `.I number` begins a record, a line of a full stop and a capital letter a field. */
function records(text: string): { id: string; fields: Map<string, string> }[] {
  return text
    .split(/^\.I\s+/m)
    .slice(1)
    .map((record) => {
      const [id = '', ...parts] = record.split(/\r?\n\.([A-Z])[ \t]*(?=\r?\n|$)/)
      const fields = new Map<string, string>()
      for (let i = 0; i + 1 < parts.length; i += 2) {
        fields.set(parts[i] ?? '', (parts[i + 1] ?? '').trim().replace(/\s+/g, ' '))
      }
      return { id: id.trim(), fields }
    })
}

function judgementsOf(text: string): Map<string, Map<string, number>> {
  const judgements = new Map<string, Map<string, number>>()
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [query, document, code] = z.array(z.string()).min(3).parse(line.trim().split(/\s+/))
    const grade = z.coerce.number().int().min(-1).max(5).parse(code)
    if (query === undefined || document === undefined || grade === sourcePaper) continue
    const ofQuery = judgements.get(query) ?? new Map<string, number>()
    ofQuery.set(document, 5 - grade)
    judgements.set(query, ofQuery)
  }
  return judgements
}
