import type { ClientOptions } from 'openai'

/**
 * Returns a `fetch` for the client of a model. Its time limit covers the body, and it reads at most `maxBytes`: the client's own
 * time limit ends when the answer begins. A longer body fails with `tooLong`.
 */
export function boundedFetch({
  timeoutMs,
  maxBytes,
  tooLong,
}: {
  timeoutMs: number
  maxBytes: number
  tooLong: () => Error
}): NonNullable<ClientOptions['fetch']> {
  return async (input, init) => {
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit
    const response = await fetch(input, { ...init, signal })
    if (response.body === null) return response
    let size = 0
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length
        if (size > maxBytes) controller.error(tooLong())
        else controller.enqueue(chunk)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
  }
}
