import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Collection, TestDocument, TestQuery } from '../collection.ts'
import type { Form } from './form.ts'

const documentLine = z.object({ _id: z.string(), title: z.string().default(''), text: z.string() })
const queryLine = z.object({ _id: z.string(), text: z.string() })

/**
 * `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` (Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of
 * Information Retrieval Models", 2021).
 */
export const beir: Form = { marker: 'corpus.jsonl', read: readBeir }

async function readBeir(folder: string): Promise<Omit<Collection, 'name'>> {
  const documents: TestDocument[] = []
  for await (const { _id, title, text } of jsonLines(join(folder, 'corpus.jsonl'), documentLine)) {
    documents.push({ id: _id, title, text })
  }
  const queries: TestQuery[] = []
  for await (const { _id, text } of jsonLines(join(folder, 'queries.jsonl'), queryLine)) {
    queries.push({ id: _id, text })
  }
  return { documents, queries, judgements: readQrels(await readFile(join(folder, 'qrels', 'test.tsv'), 'utf8')) }
}

async function* jsonLines<T>(file: string, line: z.ZodType<T>): AsyncGenerator<T> {
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text !== '') yield line.parse(JSON.parse(text))
  }
}

/** Lines of query, document and grade with tabs between, below a heading that some leave out. */
function readQrels(tsv: string): Map<string, Map<string, number>> {
  const judgements = new Map<string, Map<string, number>>()
  for (const [index, line] of tsv.split(/\r?\n/).entries()) {
    if (line === '') continue
    const [query, document, grade] = z.tuple([z.string(), z.string(), z.string()]).parse(line.split('\t'))
    if (index === 0 && !/^\d+$/.test(grade)) continue
    const ofQuery = judgements.get(query) ?? new Map<string, number>()
    ofQuery.set(document, z.coerce.number().int().parse(grade))
    judgements.set(query, ofQuery)
  }
  return judgements
}
