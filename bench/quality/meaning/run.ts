import { Embeddings, maxBatch } from '../../../src/models/embeddings.ts'
import { evaluate } from '../evaluate.ts'
import { type Embed, productRanker } from '../product-ranker.ts'
import { readCollection } from '../read-collection.ts'
import { noisyEncoder, randomEncoder } from './bad-encoders.ts'
import { serveEncoder } from './encoder-server.ts'
import { type Encoder, lsaEncoder } from './lsa.ts'
import { meaningPeer, rrfPeer } from './peers.ts'

const dimensions = 128
const limits = { timeoutMs: 600_000, maxRetries: 3 }

const folders = process.argv.slice(2)
if (folders.length === 0) {
  console.error('Usage: npm run bench:meaning -- DIR [DIR…], each a test collection (see docs/benchmarks.md).')
  process.exitCode = 1
}
for (const folder of folders) {
  const collection = await readCollection(folder)
  const { name, documents, queries } = collection
  const words = productRanker('minisearch')
  const { ndcg10: base } = await evaluate(words, collection)
  console.log(
    `\n## ${name}: ${documents.length} documents, ${queries.length} queries; words alone ${base.toFixed(3)}\n`,
  )
  console.log('| model | meaning alone | reciprocal rank fusion | Ganglion | gain |\n| --- | --- | --- | --- | --- |')
  const lsa = lsaEncoder(
    documents.map(({ title, text }) => `${title}\n${text}`),
    dimensions,
  )
  const models: [string, Encoder][] = [
    ['latent semantic analysis', lsa],
    ['half noise', noisyEncoder(lsa, 0.5)],
    ['0.7 noise', noisyEncoder(lsa, 0.7)],
    ['random', randomEncoder(dimensions)],
  ]
  for (const [model, encoder] of models) {
    const server = await serveEncoder(encoder)
    const client = new Embeddings({ url: server.url, model, apiKey: undefined }, limits)
    const embed: Embed = async (texts) => {
      const vectors: Awaited<ReturnType<Embed>> = []
      for (let at = 0; at < texts.length; at += maxBatch) {
        vectors.push(...(await client.embed(texts.slice(at, at + maxBatch), new AbortController().signal)))
      }
      return vectors
    }
    const meaning = meaningPeer(embed)
    const figures: number[] = []
    for (const ranker of [meaning, rrfPeer(words, meaning), productRanker('minisearch', embed)]) {
      figures.push((await evaluate(ranker, collection)).ndcg10)
    }
    const gain = (figures.at(-1) ?? 0) - base
    console.log(`| ${model} | ${figures.map((figure) => figure.toFixed(3)).join(' | ')} | ${gain.toFixed(3)} |`)
    server.close()
  }
}
