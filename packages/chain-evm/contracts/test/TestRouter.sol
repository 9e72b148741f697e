// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @notice Emits whatever a test wants from a listed router, and takes part in swap calls of any router version.
contract TestRouter {
    struct Step {
        address token;
        uint256 take;
        uint256 giveBack;
        address giveTo;
    }

    struct Log {
        bytes32[] topics;
        bytes data;
    }

    event Yodl(
        address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo
    );
    event Withdrawal(address indexed src, uint256 wad);

    address private sender;
    address private receiver;
    address private tokenOut;
    uint256 private amount;
    bytes32 private memo;
    Step private step;
    bytes private planned;
    address private bridge;
    bytes private bridgeCall;

    /// @notice What the next swap calls do: move tokens, then report a payment.
    function plan(
        address sender_,
        address receiver_,
        address tokenOut_,
        uint256 amount_,
        bytes32 memo_,
        Step calldata step_
    ) external {
        (sender, receiver, tokenOut, amount, memo, step) = (sender_, receiver_, tokenOut_, amount_, memo_, step_);
    }

    /// @notice Emits `count` payments of `amount_` in one transaction, with `stray` as a malformed log before each.
    function emitMany(uint256 count, address receiver_, address token, uint256 amount_, bool stray) external {
        for (uint256 index = 0; index < count; index++) {
            if (stray) emitRaw(Yodl.selector, hex"00");
            emit Yodl(msg.sender, receiver_, token, amount_ + index, 0, bytes32(index));
        }
    }

    /// @notice Emits a log with one topic and any data.
    function emitRaw(bytes32 topic, bytes memory data) public {
        assembly {
            log1(add(data, 32), mload(data), topic)
        }
    }

    /// @notice Emits a payment whose fees may be larger than its amount.
    function emitFees(address receiver_, address token, uint256 amount_, uint256 fees) external {
        emit Yodl(msg.sender, receiver_, token, amount_, fees, 0);
    }

    /// @notice Emits any logs, of any router version.
    function emitLogs(Log[] memory logs) public {
        for (uint256 index = 0; index < logs.length; index++) {
            bytes32[] memory topics = logs[index].topics;
            bytes memory data = logs[index].data;
            assembly {
                let start := add(data, 32)
                switch mload(topics)
                case 1 { log1(start, mload(data), mload(add(topics, 32))) }
                case 2 { log2(start, mload(data), mload(add(topics, 32)), mload(add(topics, 64))) }
                case 3 {
                    log3(start, mload(data), mload(add(topics, 32)), mload(add(topics, 64)), mload(add(topics, 96)))
                }
                case 4 {
                    log4(
                        start,
                        mload(data),
                        mload(add(topics, 32)),
                        mload(add(topics, 64)),
                        mload(add(topics, 96)),
                        mload(add(topics, 128))
                    )
                }
                default { revert(0, 0) }
            }
        }
    }

    /// @notice What the next calls of the router emit in place of a swap; nothing ends that.
    function planLogs(Log[] calldata logs) external {
        planned = logs.length == 0 ? bytes("") : abi.encode(logs);
    }

    /// @notice What the next calls of the router do before they emit what is planned, as a deposit into a bridge is made before its payment.
    function planBridge(address bridge_, bytes calldata call_) external {
        (bridge, bridgeCall) = (bridge_, call_);
    }

    /// @notice Every paying call lands here, whatever its selector.
    fallback() external payable {
        if (bridge != address(0)) {
            (bool ok,) = bridge.call(bridgeCall);
            require(ok, "bridge call failed");
        }
        if (planned.length != 0) {
            emitLogs(abi.decode(planned, (Log[])));
            return;
        }
        if (step.take != 0) IToken(step.token).transferFrom(msg.sender, address(this), step.take);
        if (step.giveBack != 0 && msg.value == 0) IToken(step.token).transfer(step.giveTo, step.giveBack);
        emit Yodl(sender, receiver, tokenOut, amount, (amount * 20) / 10_000, memo);
    }

    receive() external payable {}
}

/// @notice A smart wallet that forwards one call, or several in one transaction.
contract Forwarder {
    struct Call {
        address to;
        bytes data;
    }

    function forwardAll(Call[] calldata calls) external {
        for (uint256 index = 0; index < calls.length; index++) {
            (bool ok,) = calls[index].to.call(calls[index].data);
            require(ok, "forwarded call failed");
        }
    }

    function forward(address to, bytes calldata data) external payable {
        (bool ok,) = to.call{value: msg.value}(data);
        require(ok, "forwarded call failed");
    }
}
