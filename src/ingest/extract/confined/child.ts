import { writeSync } from 'node:fs'
import { type ExtractReply, extractRequest } from './reply.ts'
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
// Whoever asked is gone.
process.stdin.on('end', () => process.exit(1))

async function run(request: string): Promise<void> {
  const input = extractRequest.parse(JSON.parse(request))
  const transcriber = input.transcriber && { apiKey: undefined, ...input.transcriber }
  answer(await runExtractor({ ...input, transcriber }, showProgress))
}

function showProgress(done: number, total: number): void {
  writeSync(progressDescriptor, `${done} ${total}\n`)
}

function answer(reply: ExtractReply): void {
  const bytes = Buffer.from(JSON.stringify(reply))
  for (let at = 0; at < bytes.length; ) at += writeSync(outputDescriptor, bytes, at)
  process.exit(0)
}
