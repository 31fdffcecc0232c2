import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Ganglion } from '@ganglion/client'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { follow: { type: 'boolean' } } })
const folder = positionals[0] ?? join(import.meta.dirname, 'faqs')
const { GANGLION_URL: url = 'http://127.0.0.1:4870', GANGLION_KEY: key = '', GANGLION_KB: slug = 'demo' } = process.env
const ganglion = new Ganglion({ url, key })
const kb = ganglion.kb(slug)

/** @typedef {import('@ganglion/client').Schemas['SentCandidate']} Sent */

/** What this key sent last under each title. */
async function readSent() {
  /** @type {Map<string, Sent>} */
  const sent = new Map()
  // The newest come first.
  for await (const candidate of ganglion.me.candidates({ kb: slug })) {
    if (!sent.has(candidate.title)) sent.set(candidate.title, candidate)
  }
  return sent
}

/** A page is its first heading and the text below. @param {string} file */
async function readFaq(file) {
  const [heading = '', ...lines] = (await readFile(join(folder, file), 'utf8')).split('\n')
  return { title: heading.replace(/^#\s*/, '').trim(), content: lines.join('\n').trim() }
}

/** Sends what is new, and a correction of what has changed. @param {{ title: string, content: string }} faq @param {Sent | undefined} last */
async function submit({ title, content }, last) {
  const faq = { title, content, confidence: 0.7 }
  if (last === undefined) {
    await kb.candidates.submit({ ...faq, kind: 'external-feed', metadata: { tags: ['faq'] } })
  } else if (last.seqId !== undefined && last.commit !== undefined) {
    // The version that this file made: what curators have changed since is kept.
    const page = await kb.neurons.get(last.seqId, { at: last.commit })
    if (page.content.trim() !== content) await kb.neurons.correct(page, faq)
  }
}

const before = await readSent()
const files = (await readdir(folder)).filter((file) => file.endsWith('.md')).sort()
const faqs = await Promise.all(files.map(readFaq))
for (const faq of faqs) await submit(faq, before.get(faq.title))

for (let told = ''; ; await delay(2_000)) {
  const sent = await readSent()
  const fates = faqs.map(({ title }) => ({ title, ...sent.get(title) }))
  const lines = fates.map(({ title, status, seqId = '-', reason = '-' }) => [status, seqId, title, reason].join('\t'))
  if (lines.join() !== told) console.log(lines.join('\n'))
  told = lines.join()
  if (!values.follow || fates.every(({ status }) => status !== 'pending')) break
}
