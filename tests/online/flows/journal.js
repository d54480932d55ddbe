// What the mock server was asked to reply to.
const headers = { authorization: "Bearer right-key" };
fetch(`${process.env.MOCK_URL}/__aimock/journal`, { headers })
  .then((reply) => reply.json())
  .then((calls) => console.log(`calls of models: ${calls.length}`));
