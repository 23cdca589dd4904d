import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { webhookSecretProblem } from '../../src/core/webhook.ts'
import { signWebhook } from '../../src/webhooks/sign-webhook.ts'

const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }

describe('the signature of a message', () => {
  it('is that of the example in the Standard Webhooks specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    expect(signWebhook(message, secret, 1614265330_000)).toEqual({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('is keyed by the text itself where it is no base64, and has whole seconds', () => {
    const secret = 'correct horse battery'
    const expected = createHmac('sha256', secret).update(`${message.id}.17.${message.body}`).digest('base64')
    expect(signWebhook(message, secret, 17_999)).toMatchObject({
      'webhook-timestamp': '17',
      'webhook-signature': `v1,${expected}`,
    })
  })
})

describe('a secret', () => {
  it.each([
    ['0123456789abcdef', undefined],
    ['  0123456789abcdef\n', undefined],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', undefined],
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['0123456789abcde', 'holds fewer than 16 characters'],
    ['0123456789 abcdef', 'holds more than one line or word'],
    ['0123456789\nabcdef', 'holds more than one line or word'],
    ['whsec_AAAA', 'holds a key of fewer than 16 bytes'],
    ['whsec_***************************', 'holds no base64 after whsec_'],
    ['whsec_', 'holds no base64 after whsec_'],
  ])('%j: %s', (text, problem) => {
    expect(webhookSecretProblem(text)).toBe(problem)
  })
})
