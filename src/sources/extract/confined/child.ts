import { writeSync } from 'node:fs'
import type { ExtractInput } from '../../extracted.ts'
import type { ExtractReply } from './reply.ts'
import { failure, runExtractor } from './run-extractor.ts'

/** Libraries and their native code may print to the other file descriptors. */
const outputDescriptor = 3
const progressDescriptor = 4

process.on('uncaughtException', (error) => answer(failure(error)))

let received = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  received += text
  if (received.endsWith('\n')) run(received)
})
// The process that asked has ended.
process.stdin.on('end', () => process.exit(1))

async function run(request: string): Promise<void> {
  // The server has written it. A schema would have to load its library first, which takes as long as most documents.
  const input: ExtractInput = JSON.parse(request)
  answer(await runExtractor(input, showProgress))
}

function showProgress(done: number, total: number): void {
  writeSync(progressDescriptor, `${done} ${total}\n`)
}

function answer(reply: ExtractReply): void {
  const bytes = Buffer.from(JSON.stringify(reply))
  for (let at = 0; at < bytes.length; ) at += writeSync(outputDescriptor, bytes, at)
  process.exit(0)
}
