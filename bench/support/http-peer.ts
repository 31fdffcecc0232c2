import { createServer } from 'node:http'
import { fastify } from 'fastify'
import { Neuron } from '../../src/contract/neurons.ts'
import { serializerCompiler, type ZodTypeProvider } from '../../src/http/zod-compilers.ts'

/** A server that answers every request with the Neuron in the environment variable `BODY`, and prints its address: `node http-peer.ts node|fastify`. */
const [, , kind] = process.argv
const body = process.env.BODY ?? '{}'

if (kind === 'fastify') {
  const app = fastify().withTypeProvider<ZodTypeProvider>()
  app.setSerializerCompiler(serializerCompiler)
  const neuron = Neuron.parse(JSON.parse(body))
  app.get('*', { schema: { response: { 200: Neuron } } }, async () => neuron)
  console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
} else {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object' && address !== null) console.log(`http://127.0.0.1:${address.port}`)
  })
}
