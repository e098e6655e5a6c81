"use strict";

// Answers requests of the line protocol, in order. The first message is the compiled module, each other one a request.

let instance;
let memory;

const imports = {
  page: {
    now: () => performance.now(),
    // A panic: the exception ends the call.
    fail: (at, bytes) => { throw taken(at, bytes); },
  },
};

function taken(at, bytes) {
  return new TextDecoder().decode(new Uint8Array(memory.buffer, at, bytes));
}

function answer({ room, answer }, request) {
  const bytes = new TextEncoder().encode(request);
  const at = room(bytes.length) >>> 0;
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const found = BigInt.asUintN(64, answer());
  return taken(Number(found >> 32n), Number(found & 0xffffffffn));
}

self.onmessage = async ({ data }) => {
  if (!instance) {
    instance = WebAssembly.instantiate(data, imports);
    return;
  }
  try {
    const { exports } = await instance;
    memory = exports.memory;
    self.postMessage({ text: answer(exports, data) });
  } catch (error) {
    // Others are those of the engine: no memory, or no stack.
    self.postMessage({ failure: typeof error === "string" ? error : `internal error: ${error.message}` });
  }
};
