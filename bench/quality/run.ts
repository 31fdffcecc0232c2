import { evaluate } from './evaluate.ts'
import { fts5Peer } from './fts5-peer.ts'
import { minisearchPeer } from './minisearch-peer.ts'
import { productRanker } from './product-ranker.ts'
import type { Ranker } from './ranker.ts'
import { readCollection } from './read-collection.ts'

const rankers: Ranker[] = [productRanker('minisearch'), productRanker('segments'), fts5Peer(), minisearchPeer()]

const folders = process.argv.slice(2)
if (folders.length === 0) {
  console.error('Usage: npm run bench:quality -- DIR [DIR…], each a test collection (see docs/benchmarks.md).')
  process.exitCode = 1
}
for (const folder of folders) {
  const collection = await readCollection(folder)
  const { name, documents, queries } = collection
  console.log(`\n## ${name}: ${documents.length} documents, ${queries.length} queries\n`)
  console.log('| ranking | nDCG@10 | Recall@100 | timed out |\n| --- | --- | --- | --- |')
  for (const ranker of rankers) {
    const { ndcg10, recall100, timedOut } = await evaluate(ranker, collection)
    console.log(`| ${ranker.name} | ${ndcg10.toFixed(3)} | ${recall100.toFixed(3)} | ${timedOut} |`)
  }
}
